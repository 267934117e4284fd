"""A random language model of 50 kB with a real tokenizer and chat template: judges badly, but at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{{ '<s>' }}{% for message in messages %}[INST] {{ message['content'] | trim }} [/INST]{% endfor %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<s>", "[INST]", "[/INST]", ">>TITLE<<"]


def tokenizer(template: str | None = CHATML) -> Any:
    """A byte-level tokenizer that has every form of yes and no as one token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from lookcheck.scripts.judge.prompt import CLOSING, RULES, SYSTEM

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words = [form for form in ("YES", "Yes", "yes", "NO", "No", "no") for _ in range(50)]
    core.train_from_iterator([SYSTEM, RULES, CLOSING, *words, *[f" {word}" for word in words]], trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>", extra_special_tokens=SPECIAL
    )
    made.chat_template = template
    return made


def model(vocabulary: int, seed: int = 0) -> Any:
    """A Llama of two layers with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=2,
    )
    return LlamaForCausalLM(config).eval()


def save(folder: Path, *, template: str | None = CHATML, seed: int = 0) -> Path:
    """Write model and tokenizer as a folder that `from_pretrained` reads."""
    made = tokenizer(template)
    made.save_pretrained(folder)
    model(len(made), seed).save_pretrained(folder)
    return folder
