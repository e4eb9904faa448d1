# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny models of many families of transformers, with random weights that make attention
matter, and what is asked of them: logits or hidden states at the positions that count."""

import functools

import torch
import transformers

DECODER = dict(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
               num_key_value_heads=1, head_dim=32, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
PLAIN = {name: size for name, size in DECODER.items() if name not in ("num_key_value_heads", "head_dim")}
GPT = dict(vocab_size=64, n_embd=64, n_layer=2, n_head=2, n_positions=64, bos_token_id=1, eos_token_id=2)
WINDOW = dict(DECODER, sliding_window=7)
ALTERNATING = dict(WINDOW, query_pre_attn_scalar=32, layer_types=["sliding_attention", "full_attention"])
ENCODER = dict(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
               max_position_embeddings=66, pad_token_id=0)
BART = dict(vocab_size=64, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
            encoder_ffn_dim=64, decoder_ffn_dim=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
T5 = dict(vocab_size=64, d_model=64, d_kv=32, d_ff=64, num_layers=2, num_heads=2, pad_token_id=0, decoder_start_token_id=0)
VISION = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, image_size=32, patch_size=8)
LENGTH = 20


def numbers(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(2))


def tokens(length, seed=1):
    return torch.randint(3, 64, (2, length), generator=torch.Generator().manual_seed(seed))


def decode(model, mask):
    """Logits of a prompt and of two more tokens, each on top of the cache."""
    ids, found, logits = tokens(LENGTH), None, []
    for start, stop in ((0, LENGTH - 2), (LENGTH - 2, LENGTH - 1), (LENGTH - 1, LENGTH)):
        found = model(ids[:, start:stop], attention_mask=mask[:, :stop], use_cache=True,
                      past_key_values=found and found.past_key_values)
        logits.append(found.logits)
    return torch.cat(logits, 1)[mask.bool()]


def encode(model, mask):
    found = model(input_ids=tokens(LENGTH), attention_mask=mask)
    return (found.logits if "logits" in found else found.last_hidden_state)[mask.bool()]


def translate(model, mask):
    """Logits of six tokens after a padded text, and of one more on top of the cache."""
    ids = tokens(7, seed=3)
    first = model(input_ids=tokens(LENGTH), attention_mask=mask, decoder_input_ids=ids[:, :-1], use_cache=True)
    last = model(encoder_outputs=(first.encoder_last_hidden_state,), attention_mask=mask, decoder_input_ids=ids[:, -1:],
                 past_key_values=first.past_key_values, use_cache=True)
    return torch.cat([first.logits, last.logits], 1)


def listen(model, mask):
    return model(input_features=numbers(2, 8, 32).to(model.dtype), decoder_input_ids=tokens(LENGTH),
                 decoder_attention_mask=mask).logits[mask.bool()]


def see(model, mask):
    return model(pixel_values=numbers(2, 3, 32, 32).to(model.dtype)).last_hidden_state


class Family:
    def __init__(self, kind, run, sizes, config=None):
        self.run, self.sizes, self.padded = run, sizes, run is not see
        self._model, self._config = getattr(transformers, kind), config or kind.partition("For")[0] + "Config"

    def model(self, implementation, dtype=torch.bfloat16):
        """The same weights at each call, which bf16 has."""
        torch.manual_seed(5)
        config = getattr(transformers, self._config)(**self.sizes)
        model = self._model._from_config(config, attn_implementation=implementation).eval()
        generator = torch.Generator().manual_seed(9)
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                scale = 1.2 * parameter[0].numel() ** -0.5
                if name.endswith(".q.weight"):  # of T5, which does not scale its scores
                    scale *= self.sizes["d_kv"] ** -0.5
                parameter.data = (torch.randn(parameter.shape, generator=generator) * scale).bfloat16().float()
        return model.to(dtype)

    def masks(self):
        """Without padding, and with some on either side of the second text."""
        mask = torch.ones(2, LENGTH, dtype=torch.int64)
        yield mask
        for padding in (slice(0, 5), slice(-5, None)) if self.padded else ():
            padded = mask.clone()
            padded[1, padding] = 0
            yield padded


causal = functools.partial(Family, run=decode)
FAMILIES = {
    "Llama": causal("LlamaForCausalLM", sizes=DECODER),
    "Llama 4": causal("Llama4ForCausalLM", config="Llama4TextConfig", sizes=dict(
        DECODER, intermediate_size_mlp=64, attention_chunk_size=8, moe_layers=[], no_rope_layers=[1, 0],
        layer_types=["chunked_attention", "full_attention"])),
    "Mistral": causal("MistralForCausalLM", sizes=WINDOW),
    "Qwen2": causal("Qwen2ForCausalLM", sizes=dict(WINDOW, use_sliding_window=True, max_window_layers=1)),
    "Qwen3": causal("Qwen3ForCausalLM", sizes=DECODER),
    "Gemma": causal("GemmaForCausalLM", sizes=DECODER),
    "Gemma 2": causal("Gemma2ForCausalLM", sizes=dict(ALTERNATING, attn_logit_softcapping=2.0)),
    "Gemma 3": causal("Gemma3ForCausalLM", config="Gemma3TextConfig", sizes=ALTERNATING),
    "Phi-3": causal("Phi3ForCausalLM", sizes=WINDOW),
    "Cohere": causal("CohereForCausalLM", sizes=DECODER),
    "Cohere 2": causal("Cohere2ForCausalLM", sizes=dict(WINDOW, layer_types=["sliding_attention", "full_attention"])),
    "Granite": causal("GraniteForCausalLM", sizes=DECODER),
    "OLMo 2": causal("Olmo2ForCausalLM", sizes=DECODER),
    "StableLM": causal("StableLmForCausalLM", sizes=DECODER),
    "StarCoder 2": causal("Starcoder2ForCausalLM", sizes=WINDOW),
    "GPT-2": causal("GPT2LMHeadModel", config="GPT2Config", sizes=GPT),
    "GPT-NeoX": causal("GPTNeoXForCausalLM", sizes=PLAIN),
    "OPT": causal("OPTForCausalLM", sizes=dict(PLAIN, ffn_dim=64, word_embed_proj_dim=64)),
    "GPT-OSS": causal("GptOssForCausalLM", sizes=dict(
        WINDOW, num_local_experts=2, num_experts_per_tok=2, layer_types=["sliding_attention", "full_attention"],
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0})),
    "Falcon": causal("FalconForCausalLM", sizes=dict(PLAIN)),
    "BLOOM": causal("BloomForCausalLM", sizes=dict(vocab_size=64, hidden_size=64, n_layer=2, n_head=2)),
    "MPT": causal("MptForCausalLM", sizes=dict(vocab_size=64, d_model=64, n_layers=2, n_heads=2, max_seq_len=64)),
    "BERT": Family("BertForMaskedLM", encode, ENCODER),
    "RoBERTa": Family("RobertaForMaskedLM", encode, ENCODER),
    "DistilBERT": Family("DistilBertForMaskedLM", encode, dict(vocab_size=64, dim=64, hidden_dim=64, n_layers=2, n_heads=2)),
    "ALBERT": Family("AlbertForMaskedLM", encode, dict(ENCODER, embedding_size=64)),
    "ELECTRA": Family("ElectraForMaskedLM", encode, dict(ENCODER, embedding_size=64)),
    "ModernBERT": Family("ModernBertForMaskedLM", encode, dict(ENCODER, local_attention=8, global_attn_every_n_layers=2,
                                                               cls_token_id=1, sep_token_id=2)),
    "CLIP, text": Family("CLIPTextModel", encode, dict(ENCODER, bos_token_id=1, eos_token_id=2), "CLIPTextConfig"),
    "T5": Family("T5ForConditionalGeneration", translate, T5),
    "mT5": Family("MT5ForConditionalGeneration", translate, T5),
    "BART": Family("BartForConditionalGeneration", translate, BART),
    "Marian": Family("MarianMTModel", translate, BART, "MarianConfig"),
    "Whisper": Family("WhisperForConditionalGeneration", listen, dict(BART, num_mel_bins=8, max_source_positions=16,
                                                                      max_target_positions=64)),
    "ViT": Family("ViTModel", see, VISION, "ViTConfig"),
    "CLIP, vision": Family("CLIPVisionModel", see, VISION, "CLIPVisionConfig"),
    "DINOv2": Family("Dinov2Model", see, VISION, "Dinov2Config"),
}
