#include "tune/candidates.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tune/feature_rows.h"

namespace lathe {

Result<Candidates> Candidates::create(std::shared_ptr<const Task> task, std::string_view space,
                                      FeatureKind features) {
  LATHE_TRY(Space derived, derive_space(*task, space));
  return Candidates(std::move(task), std::move(derived), features);
}

SearchSpace Candidates::search_space() {
  SearchSpace search;
  for (const Sketch& sketch : space_.sketches()) {
    search.sketches.push_back(sketch.domain);
    search.sketch_names.push_back(sketch.name);
  }
  search.violation = [this](const Point& point) -> std::optional<std::string> {
    const Forms& forms = forms_of(point);
    if (trace_in(forms) != nullptr) return std::nullopt;
    return forms.trace->error().message;
  };
  search.identity = [this](const Point& point) { return identity(point); };
  search.initial = space_.preferred_points();
  return search;
}

Candidates::Forms& Candidates::forms_of(const Point& point) {
  Forms& forms = forms_[point];
  if (!forms.trace && !forms.written) forms.trace = space_.trace(point);
  return forms;
}

const Trace* Candidates::trace_in(const Forms& forms) const {
  if (forms.written && *forms.written) return &(**forms.written)->trace;
  return forms.trace && *forms.trace ? &**forms.trace : nullptr;
}

uint64_t Candidates::identity(const Point& point) {
  const auto [entry, added] = identities_.try_emplace(hash_of(point), hash_of(point));
  if (added) {
    if (const Trace* trace = trace_in(forms_of(point))) entry->second = hash_of(*trace);
  }
  return entry->second;
}

Result<Trace> Candidates::trace(const Point& point) {
  const Forms& forms = forms_of(point);
  if (const Trace* trace = trace_in(forms)) return *trace;
  return std::unexpected(forms.trace->error());
}

Result<std::shared_ptr<const Written>> Candidates::written(const Point& point) {
  Forms& forms = forms_of(point);
  if (forms.written) return *forms.written;
  if (!*forms.trace) return std::unexpected(forms.trace->error());
  Result<Program> program = replay_.apply(**forms.trace);
  if (!program) return std::unexpected(program.error());
  Written written{std::move(**forms.trace), identity(point), std::move(*program)};
  forms.trace.reset();
  forms.written = std::make_shared<const Written>(std::move(written));
  return *forms.written;
}

const std::optional<FeatureRows>& Candidates::features(const Point& point) {
  const auto known = features_.find(point);
  if (known != features_.end()) return known->second;
  std::optional<FeatureRows> rows;
  if (kind_ == FeatureKind::configuration) {
    if (trace_in(forms_of(point)) != nullptr) rows = configuration_rows(space_.sketches(), point);
  } else if (const auto program = written(point)) {
    rows = program_rows(kind_, (*program)->program, task_->target);
  }
  return features_.emplace(point, std::move(rows)).first->second;
}

Prediction Candidates::predict(std::span<const Point> points, const CostModel& model) {
  Prediction costs{std::vector(points.size(), std::numeric_limits<double>::infinity()),
                   std::vector(points.size(), 0.0)};
  FeatureSet rows;
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  // Neighbours in this order share the beginnings of their traces.
  std::ranges::sort(order, {}, [&](size_t i) -> const Point& { return points[i]; });
  std::vector<size_t> places;
  for (const size_t i : order) {
    const auto& row = features(points[i]);
    if (!row) continue;
    rows.add(*row);
    places.push_back(i);
  }
  if (places.empty()) return costs;
  const Result<Prediction> prediction = model.predict(rows);
  if (!prediction) return costs;
  for (size_t i = 0; i < places.size(); ++i) {
    costs.mean[places[i]] = prediction->mean[i];
    costs.stddev[places[i]] = prediction->stddev[i];
  }
  return costs;
}

void Candidates::end_round() {
  forms_.clear();
  replay_ = PrefixReplay(*task_);
}

}  // namespace lathe
