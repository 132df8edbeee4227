// A 64-bit structural hash that is equal on every machine and in every run: it names tasks and traces in
// records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe {

// Streaming hash: FNV-1a over bytes with a final avalanche. Not cryptographic.
class Hasher {
 public:
  Hasher& add(uint64_t value) {
    for (int i = 0; i < 8; ++i) byte(static_cast<uint8_t>(value >> (8 * i)));
    return *this;
  }
  Hasher& add(int64_t value) { return add(static_cast<uint64_t>(value)); }
  Hasher& add(int value) { return add(static_cast<uint64_t>(static_cast<int64_t>(value))); }
  Hasher& add(std::string_view text) { return add(static_cast<uint64_t>(text.size())).add_part(text); }
  // Of a text that comes in parts; how long it is together is added before the first.
  Hasher& add_part(std::string_view part) {
    for (char c : part) byte(static_cast<uint8_t>(c));
    return *this;
  }
  uint64_t finish() const {
    uint64_t z = state_;
    z = (z ^ (z >> 33)) * 0xff51afd7ed558ccdu;
    z = (z ^ (z >> 33)) * 0xc4ceb9fe1a85ec53u;
    return z ^ (z >> 33);
  }

 private:
  void byte(uint8_t value) { state_ = (state_ ^ value) * 0x100000001b3u; }
  uint64_t state_ = 0xcbf29ce484222325u;
};

inline uint64_t hash_text(std::string_view text) { return Hasher().add(text).finish(); }

// Sixteen hexadecimal digits: how a hash is written in records and names.
std::string hash_to_string(uint64_t hash);
// Reads that back; nothing where it is none.
std::optional<uint64_t> hash_from_string(std::string_view text);

}  // namespace lathe
