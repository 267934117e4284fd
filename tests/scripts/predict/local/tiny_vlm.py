"""Tiny vision-language models of random weights, one for each family, as folders the Auto classes load.

Each has the family's own classes, its processor and a chat template in its checkpoints' manner. All
matrices are five times as large as they are drawn, so that a wrong mask, position or picture moves the
log-probabilities by far more than rounding does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

SCALE = 5.0
WORDS = [
    "Is",
    "there",
    "a",
    "dog",
    "in",
    "the",
    "picture",
    "Answer",
    "yes",
    "or",
    "no",
    "only",
    "traffic",
    "light",
]

_CONTENT = "{% for c in m['content'] %}{% if c['type'] == 'image' %}PLACEHOLDER{% else %}{{ c['text'] }}{% endif %}{% endfor %}"
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}CONTENT{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
).replace("CONTENT", _CONTENT)
# Pictures first whatever is asked, no begin token: the processor adds it.
VICUNA = (
    "{% for m in messages %}{% if m['role'] != 'system' %}{{ m['role'].upper() + ': ' }}{% endif %}"
    "{% for c in m['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\n' }}{% endfor %}"
    "{% for c in m['content'] | selectattr('type', 'equalto', 'text') %}{{ c['text'] + ' ' }}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
)
# The begin token is written here, and there is no turn for the system.
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}<start_of_turn>{{ m['role'] }}\n"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}<start_of_image>{% else %}{{ c['text'] | trim }}{% endif %}{% endfor %}"
    "<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def tokenizer(special: list[str], named: dict[str, str], **roles: str) -> Any:
    """A byte-level tokenizer with the given control tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    every = list(dict.fromkeys(["<pad>", "<s>", "</s>", *special, *named.values()]))
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=every,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    forms = [form for word in WORDS for form in (word.lower(), word.capitalize())]
    text = [form for form in forms for _ in range(60)] + [f" {form}" for form in forms for _ in range(50)]
    core.train_from_iterator([*text, *["\n\n\n"] * 9, *["\n"] * 9], trainer)
    if roles.pop("begins", ""):
        begin = core.token_to_id("<s>")
        core.post_processor = processors.Sequence(
            [
                processors.ByteLevel(trim_offsets=False),
                processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", begin)]),
            ]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="<pad>",
        padding_side="left",
        extra_special_tokens={**named, **{f"added_{n}": token for n, token in enumerate(special)}},
        **roles,
    )


def llava() -> tuple[Any, Any]:
    """LLaVA-1.5: CLIP, a projector, Llama."""
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    made = tokenizer([], {"image_token": "<image>"}, bos_token="<s>", eos_token="</s>", begins="yes")
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=2,
        image_size=56,
        patch_size=14,
    )
    text = LlamaConfig(
        vocab_size=len(made),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    model = LlavaForConditionalGeneration(
        LlavaConfig(vision_config=vision, text_config=text, image_token_index=made.image_token_id)
    )
    pictures = CLIPImageProcessor(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56})
    processor = LlavaProcessor(
        pictures,
        made,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=VICUNA,
    )
    return model, processor


def _qwen_tokens() -> Any:
    return tokenizer(
        ["<|im_start|>", "<|im_end|>"],
        {
            "image_token": "<|image_pad|>",
            "video_token": "<|video_pad|>",
            "vision_bos_token": "<|vision_start|>",
            "vision_eos_token": "<|vision_end|>",
            "vision_start_token": "<|vision_start|>",
            "vision_end_token": "<|vision_end|>",
        },
        eos_token="<|im_end|>",
    )


def _qwen_ids(made: Any) -> dict[str, int]:
    return {
        "image_token_id": made.image_token_id,
        "video_token_id": made.video_token_id,
        "vision_start_token_id": made.convert_tokens_to_ids("<|vision_start|>"),
        "vision_end_token_id": made.convert_tokens_to_ids("<|vision_end|>"),
    }


def _qwen_text(made: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(made),
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "eos_token_id": made.eos_token_id,
        "pad_token_id": 0,
    }


def qwen2_5_vl() -> tuple[Any, Any]:
    """Qwen2.5-VL: windowed vision tower, positions in three dimensions."""
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    made = _qwen_tokens()
    vision = {
        "depth": 3,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "patch_size": 14,
        "window_size": 56,
        "out_hidden_size": 48,
        "fullatt_block_indexes": [1, 2],
    }
    text = {
        **_qwen_text(made),
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 2, 2]},
    }
    config = Qwen2_5_VLConfig(vision_config=vision, text_config=text, **_qwen_ids(made))
    processor = Qwen2_5_VLProcessor(
        Qwen2VLImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112}),
        made,
        Qwen2VLVideoProcessor(),
        chat_template=CHATML.replace("PLACEHOLDER", "<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return Qwen2_5_VLForConditionalGeneration(config), processor


def qwen3_vl() -> tuple[Any, Any]:
    """Qwen3-VL: features of several depths go into several layers."""
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    made = _qwen_tokens()
    vision = {
        "depth": 3,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "patch_size": 16,
        "out_hidden_size": 48,
        "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0, 1],
    }
    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 2, 2], "mrope_interleaved": True}
    text = {**_qwen_text(made), "head_dim": 12, "rope_parameters": rope}
    config = Qwen3VLConfig(vision_config=vision, text_config=text, **_qwen_ids(made))
    processor = Qwen3VLProcessor(
        Qwen2VLImageProcessor(size={"shortest_edge": 64 * 64, "longest_edge": 128 * 128}, patch_size=16),
        made,
        Qwen3VLVideoProcessor(),
        chat_template=CHATML.replace("PLACEHOLDER", "<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return Qwen3VLForConditionalGeneration(config), processor


def internvl() -> tuple[Any, Any]:
    """InternVL3: pictures in tiles, pixels shuffled."""
    from transformers import (
        GotOcr2ImageProcessor,
        InternVLConfig,
        InternVLForConditionalGeneration,
        InternVLProcessor,
        InternVLVideoProcessor,
    )

    named = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    made = tokenizer(["<|im_start|>", "<|im_end|>"], named, eos_token="<|im_end|>")
    vision = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "image_size": [56, 56],
        "patch_size": [14, 14],
    }
    config = InternVLConfig(
        vision_config=vision,
        text_config={"model_type": "qwen2", **_qwen_text(made)},
        image_token_id=made.context_image_token_id,
        image_seq_length=4,
        downsample_ratio=0.5,
    )
    processor = InternVLProcessor(
        GotOcr2ImageProcessor(
            size={"height": 56, "width": 56}, crop_to_patches=True, min_patches=1, max_patches=4
        ),
        made,
        InternVLVideoProcessor(size={"height": 56, "width": 56}),
        image_seq_length=4,
        chat_template=CHATML.replace("PLACEHOLDER", "<IMG_CONTEXT>\n"),
    )
    return InternVLForConditionalGeneration(config), processor


def gemma3() -> tuple[Any, Any]:
    """Gemma 3: SigLIP, tokens of a picture see each other both ways."""
    from transformers import (
        Gemma3Config,
        Gemma3ForConditionalGeneration,
        Gemma3ImageProcessor,
        Gemma3Processor,
    )

    named = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    made = tokenizer(
        ["<start_of_turn>", "<end_of_turn>"], named, bos_token="<s>", eos_token="<end_of_turn>", begins="yes"
    )
    vision = {
        "model_type": "siglip_vision_model",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "image_size": 56,
        "patch_size": 14,
        "vision_use_head": False,
    }
    text = {
        **_qwen_text(made),
        "head_dim": 12,
        "query_pre_attn_scalar": 12,
        "sliding_window": 64,
        "bos_token_id": 1,
    }
    config = Gemma3Config(
        vision_config=vision,
        text_config=text,
        mm_tokens_per_image=4,
        boi_token_index=made.boi_token_id,
        eoi_token_index=made.eoi_token_id,
        image_token_index=made.image_token_id,
        image_token_id=made.image_token_id,
        eos_token_id=[made.eos_token_id],
    )
    model = Gemma3ForConditionalGeneration(config)
    # Zeros as it is drawn: the model would be blind.
    torch.nn.init.normal_(model.model.multi_modal_projector.mm_input_projection_weight, std=0.02)
    processor = Gemma3Processor(
        Gemma3ImageProcessor(size={"height": 56, "width": 56}), made, chat_template=GEMMA, image_seq_length=4
    )
    return model, processor


def molmo2() -> tuple[Any, Any]:
    """Molmo2: overlapping crops, pooled by attention."""
    from transformers import (
        Molmo2Config,
        Molmo2ForConditionalGeneration,
        Molmo2ImageProcessor,
        Molmo2Processor,
        Molmo2VideoProcessor,
    )

    special = [
        "<im_col>",
        "<im_start>",
        "<low_res_im_start>",
        "<frame_start>",
        "<im_end>",
        "<frame_end>",
        "<im_low>",
    ]
    named = {"image_token": "<|image|>", "video_token": "<|video|>", "image_patch_token": "<im_patch>"}
    made = tokenizer(["<|im_start|>", "<|im_end|>", *special], named, eos_token="<|im_end|>")
    ids = {
        name: made.convert_tokens_to_ids(f"<{name}>")
        for name in ("im_start", "im_end", "im_patch", "low_res_im_start")
    }
    vision = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "image_size": [56, 56],
        "patch_size": 14,
        "num_position_embeddings": 16,
    }
    adapter = {
        "vision_feature_layer": [-1, -2],
        "hidden_size": 32,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "intermediate_size": 64,
        "text_hidden_size": 48,
    }
    config = Molmo2Config(
        vision_config=vision,
        adapter_config=adapter,
        text_config={**_qwen_text(made), "head_dim": 12, "additional_vocab_size": 8},
        image_start_token_id=ids["im_start"],
        low_res_image_start_token_id=ids["low_res_im_start"],
        image_end_token_id=ids["im_end"],
        image_patch_id=ids["im_patch"],
        frame_start_token_id=made.convert_tokens_to_ids("<frame_start>"),
        frame_end_token_id=made.convert_tokens_to_ids("<frame_end>"),
    )
    pictures = Molmo2ImageProcessor(
        size={"height": 56, "width": 56}, max_crops=2, overlap_margins=[1, 1], patch_size=14
    )
    processor = Molmo2Processor(
        pictures, Molmo2VideoProcessor(), made, chat_template=CHATML.replace("PLACEHOLDER", "<|image|>")
    )
    return Molmo2ForConditionalGeneration(config), processor


FAMILIES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "llava": llava,
    "qwen2_5_vl": qwen2_5_vl,
    "qwen3_vl": qwen3_vl,
    "internvl": internvl,
    "gemma3": gemma3,
    "molmo2": molmo2,
}


def save(family: str, folder: Path, seed: int = 0) -> Path:
    """Write a model of the family with its processor; the same one for the same seed."""
    torch.manual_seed(seed)
    model, processor = FAMILIES[family]()
    with torch.no_grad():
        # Zeros as it is drawn: to attend to padding would change next to nothing.
        model.get_input_embeddings().weight[0].normal_(std=0.02)
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.mul_(SCALE)
    model.generation_config.eos_token_id = [processor.tokenizer.eos_token_id]
    model.generation_config.pad_token_id = 0
    # A folder's settings that would change greedy replies, if they were heeded.
    model.generation_config.repetition_penalty = 1.3
    model.generation_config.do_sample = True
    model.generation_config.temperature = 0.1
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
