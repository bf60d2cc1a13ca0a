"""Writes a tiny llama with random weights, for a llama.cpp server that has to answer something: python tiny_gguf.py FILE."""

import sys

import gguf
import numpy as np

width, heads, inner, context = 64, 4, 128, 2048
tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
tokens += ["\u2581" + letter for letter in "abcdefghijklmnopqrstuvwxyz"] + list("abcdefghijklmnopqrstuvwxyz")
kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
kinds += [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * 52

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("tiny")
writer.add_context_length(context)
writer.add_embedding_length(width)
writer.add_block_count(1)
writer.add_feed_forward_length(inner)
writer.add_head_count(heads)
writer.add_head_count_kv(heads)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(width // heads)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(kinds)
writer.add_unk_token_id(0)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_chat_template("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:")

random = np.random.default_rng(7)


def add(name, *shape):
    writer.add_tensor(name, (random.standard_normal(shape) * 0.1).astype(np.float32))


add("token_embd.weight", len(tokens), width)
writer.add_tensor("output_norm.weight", np.ones(width, dtype=np.float32))
output = (random.standard_normal((len(tokens), width)) * 0.1).astype(np.float32)
output[:259] = 0  # letters rather than bytes and ends, so that an answer goes on until its limit
writer.add_tensor("output.weight", output)
for name in ["attn_norm", "ffn_norm"]:
    writer.add_tensor(f"blk.0.{name}.weight", np.ones(width, dtype=np.float32))
for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
    add(f"blk.0.{name}.weight", width, width)
add("blk.0.ffn_gate.weight", inner, width)
add("blk.0.ffn_up.weight", inner, width)
add("blk.0.ffn_down.weight", width, inner)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
