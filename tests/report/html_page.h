// A page as a browser's parser sees it: whether its elements are closed in order, and what its figures are.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lathe {

using Attributes = std::map<std::string, std::string>;

inline std::string unescaped(std::string text) {
  const std::vector<std::pair<std::string, std::string>> entities = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) {
    for (size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1))
      text.replace(at, entity.size(), character);
  }
  return text;
}

// A <data> element, and the nearest attributes data-task, data-target, data-cores, data-bench around it.
struct PageFigure {
  std::string field;
  std::string value;
  std::string text;
  Attributes around;
};

class HtmlPage {
 public:
  explicit HtmlPage(std::string_view page) : rest_(page) {
    while (!rest_.empty()) step();
    EXPECT_TRUE(open_.empty()) << "not closed: " << (open_.empty() ? "" : open_.back().name);
  }

  std::vector<PageFigure> figures;
  std::string text;                   // of all elements but style and script
  std::string island;                 // the JSON
  std::map<std::string, int> counts;  // of elements
  std::vector<std::string> headings;  // of sections

 private:
  struct Element {
    std::string name;
    Attributes attributes;
    size_t text_begin = 0;
  };

  void step() {
    const size_t tag = rest_.find('<');
    text += unescaped(std::string(rest_.substr(0, tag)));
    rest_.remove_prefix(std::min(tag, rest_.size()));
    if (rest_.empty()) return;
    const size_t end = rest_.find('>');
    ASSERT_NE(end, std::string_view::npos);
    const std::string inside(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    if (inside.starts_with("!")) return;
    if (inside.starts_with("/")) return close(inside.substr(1));
    open(inside);
  }

  void open(std::string inside) {
    const bool is_closed = inside.ends_with("/");
    if (is_closed) inside.pop_back();
    Element element;
    const size_t name_end = inside.find_first_of(" \n");
    element.name = inside.substr(0, name_end);
    ++counts[element.name];
    if (name_end != std::string::npos) read_attributes(inside.substr(name_end), element.attributes);
    for (const char* outside : {"src", "href", "xlink:href", "onload"})
      EXPECT_FALSE(element.attributes.contains(outside)) << inside;
    static const std::set<std::string> kVoid = {"meta", "br", "wbr"};
    if (is_closed || kVoid.contains(element.name)) return;
    element.text_begin = text.size();
    open_.push_back(element);
    if (element.name == "script" || element.name == "style") {
      const size_t end = rest_.find("</" + element.name);
      if (element.name == "script") island = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end, rest_.size()));
    }
  }

  void close(const std::string& name) {
    ASSERT_FALSE(open_.empty()) << name;
    ASSERT_EQ(open_.back().name, name);
    const Element element = open_.back();
    open_.pop_back();
    const std::string inner = text.substr(element.text_begin);
    if (name == "h2") headings.push_back(inner);
    if (name != "data") return;
    PageFigure figure = {element.attributes.at("data-field"), element.attributes.at("value"), inner, {}};
    for (const Element& around : open_) {
      for (const auto& [key, value] : around.attributes) {
        if (key.starts_with("data-")) figure.around[key] = value;
      }
    }
    figures.push_back(figure);
  }

  static void read_attributes(std::string_view inside, Attributes& attributes) {
    while (true) {
      const size_t begin = inside.find_first_not_of(" \n");
      if (begin == std::string_view::npos) return;
      inside.remove_prefix(begin);
      const size_t equals = inside.find("=\"");
      ASSERT_NE(equals, std::string_view::npos) << inside;
      const size_t end = inside.find('"', equals + 2);
      ASSERT_NE(end, std::string_view::npos) << inside;
      attributes[std::string(inside.substr(0, equals))] =
          unescaped(std::string(inside.substr(equals + 2, end - equals - 2)));
      inside.remove_prefix(end + 1);
    }
  }

  std::string_view rest_;
  std::vector<Element> open_;
};

}  // namespace lathe
