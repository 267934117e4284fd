"""SAM 3, SAM 2 and Grounding DINO with random weights, small enough to make and run in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    BertTokenizerFast,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessor,
    GroundingDinoProcessor,
    PreTrainedTokenizerFast,
    Sam2Config,
    Sam2ImageProcessor,
    Sam2Model,
    Sam2Processor,
    Sam3Config,
    Sam3ImageProcessor,
    Sam3Model,
    Sam3Processor,
)

CORPUS = ["a red cup on the table", "two dogs and a cat", "the person behind the bicycle", "street sign"]


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE with CLIP's marks of beginning and end."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    marks = ["<|startoftext|>", "<|endoftext|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=marks, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{marks[0]} $A {marks[1]}",
        special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in marks],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=marks[0], eos_token=marks[1], pad_token=marks[1]
    )


def louder(model: Any, factor: float = 5.0) -> Any:
    """Matrices times a factor: at their first values a tiny model hardly looks at what it is given."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(factor)
    return model.eval()


def sam3(folder: Path) -> Path:
    """A folder with SAM 3: 10 queries, pictures of 112 × 112."""
    torch.manual_seed(3)
    part = {
        "hidden_size": 32,
        "num_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "dropout": 0.0,
    }
    config = Sam3Config(
        vision_config={
            "backbone_config": {
                "model_type": "sam3_vit_model", "hidden_size": 32, "intermediate_size": 64,
                "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 112, "patch_size": 14,
                "window_size": 4, "global_attn_indexes": [1], "pretrain_image_size": 56,
            },
            "fpn_hidden_size": 32,
            "backbone_feature_sizes": [[32, 32], [16, 16], [8, 8]],
        },
        text_config={
            "model_type": "clip_text_model", "vocab_size": 300, "hidden_size": 32, "intermediate_size": 64,
            "projection_dim": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
            "max_position_embeddings": 32, "bos_token_id": 0, "eos_token_id": 1,
        },
        geometry_encoder_config=dict(part),
        detr_encoder_config=dict(part),
        detr_decoder_config={**part, "num_queries": 10},
        mask_decoder_config={"hidden_size": 32, "num_attention_heads": 2},
    )  # fmt: skip
    louder(Sam3Model(config)).save_pretrained(folder)
    size = {"height": 112, "width": 112}
    Sam3Processor(
        Sam3ImageProcessor(size=size, mask_size={"height": 32, "width": 32}), byte_tokenizer()
    ).save_pretrained(folder)
    return folder


def sam2(folder: Path) -> Path:
    """A folder with SAM 2: pictures of 128 × 128."""
    torch.manual_seed(2)
    config = Sam2Config(
        vision_config={
            "backbone_config": {
                "model_type": "sam2_hiera_det_model", "hidden_size": 16, "num_attention_heads": 1,
                "image_size": [128, 128], "blocks_per_stage": [1, 1, 2, 1], "global_attention_blocks": [3],
                "embed_dim_per_stage": [16, 32, 64, 128], "num_attention_heads_per_stage": [1, 2, 4, 8],
                "window_size_per_stage": [8, 4, 4, 4], "window_positional_embedding_background_size": [4, 4],
            },
            "backbone_channel_list": [128, 64, 32, 16],
            "backbone_feature_sizes": [[32, 32], [16, 16], [8, 8]],
            "fpn_hidden_size": 32,
        },
        prompt_encoder_config={"hidden_size": 32, "image_size": 128, "patch_size": 16},
        mask_decoder_config={
            "hidden_size": 32, "mlp_dim": 64, "num_attention_heads": 2, "iou_head_hidden_dim": 32,
        },
    )  # fmt: skip
    louder(Sam2Model(config), 2.0).save_pretrained(folder)
    size = {"height": 128, "width": 128}
    Sam2Processor(Sam2ImageProcessor(size=size, mask_size={"height": 32, "width": 32})).save_pretrained(
        folder
    )
    return folder


def grounding_dino(folder: Path) -> Path:
    """A folder with Grounding DINO: 20 queries, shortest side 64."""
    torch.manual_seed(4)
    folder.mkdir(parents=True, exist_ok=True)
    words = sorted({word for line in CORPUS for word in line.split()} | set("abcdefghijklmnopqrstuvwxyz.?"))
    pieces = [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *pieces]
    file = folder / "vocab.txt"
    file.write_text("\n".join(vocabulary))
    config = GroundingDinoConfig(
        backbone_config={
            "model_type": "swin", "embed_dim": 16, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 4, 8],
            "window_size": 4, "image_size": 64, "out_features": ["stage2", "stage3", "stage4"],
        },
        text_config={
            "model_type": "bert", "vocab_size": len(vocabulary), "hidden_size": 32, "num_hidden_layers": 1,
            "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 64,
        },
        num_queries=20, encoder_layers=1, encoder_ffn_dim=64, encoder_attention_heads=2, decoder_layers=2,
        decoder_ffn_dim=64, decoder_attention_heads=2, d_model=32, max_text_len=32, encoder_n_points=2,
        decoder_n_points=2, num_feature_levels=4, disable_custom_kernels=True, dropout=0.0,
        two_stage=True, decoder_bbox_embed_share=True,
    )  # fmt: skip
    louder(GroundingDinoForObjectDetection(config)).save_pretrained(folder)
    GroundingDinoProcessor(
        GroundingDinoImageProcessor(size={"shortest_edge": 64, "longest_edge": 96}),
        BertTokenizerFast(str(file)),
    ).save_pretrained(folder)
    return folder
