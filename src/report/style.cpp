// The style sheet of the report's page (report/sections.h).
#include "report/sections.h"

namespace lathe {

namespace {

constexpr const char* kStyle =
    R"css(:root { --page: #fbfbf9; --text: #1c1d21; --muted: #62656d; --line: #dfe0e3; --card: #ffffff; --accent: #1f63b4;
  --other: #b0603a; --soft: #e6e8ec; --note: #fff4d6; }
@media (prefers-color-scheme: dark) {
  :root { --page: #15171a; --text: #e8e9eb; --muted: #a0a4ac; --line: #33373d; --card: #1c1f23; --accent: #6da8ec;
    --other: #e09a74; --soft: #2a2e34; --note: #3a3218; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .3rem; }
h3 { font-size: .95rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
p { margin: .2rem 0 .8rem; max-width: 46rem; }
section > p, .facts, .muted, figcaption, footer { color: var(--muted); }
.facts { font-size: .875rem; }
.note { background: var(--note); padding: .5rem .75rem; border-radius: .4rem; font-size: .9rem; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1.2rem 0 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem;
  display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.tile dt { color: var(--muted); font-size: .8rem; line-height: 1.3; }
.tile dd { margin: 0; font-size: 1.5rem; font-weight: 600; }
.scroller { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--muted); font-weight: 500; white-space: nowrap; }
tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 9rem; }
.number { text-align: right; white-space: nowrap; }
td.long { overflow-wrap: anywhere; min-width: 16rem; }
.track { display: block; background: var(--soft); border-radius: .2rem; height: .7rem; overflow: hidden; }
td .track { height: .3rem; margin-top: .2rem; min-width: 4.5rem; }
.fill { display: block; height: 100%; background: var(--accent); min-width: 1px; }
.fill.peer { background: var(--other); }
.bars { list-style: none; margin: .6rem 0 0; padding: 0; font-size: .9rem; font-variant-numeric: tabular-nums; }
.bars li { display: grid; grid-template-columns: minmax(7rem, 17rem) 1fr 8.5rem; gap: .75rem; align-items: center;
  padding: .2rem 0; }
.bars .label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bars .value { text-align: right; white-space: nowrap; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: .9rem; margin-top: .6rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem; min-width: 0; }
.card .facts { margin-bottom: .4rem; font-size: .8rem; line-height: 1.4; }
.card .bars li { grid-template-columns: 7.5rem 1fr 5rem; gap: .5rem; }
details { margin-top: .8rem; }
summary { cursor: pointer; color: var(--accent); }
figure { margin: .8rem 0 1.2rem; }
figcaption { font-size: .875rem; margin-bottom: .3rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg.roofline { max-width: 50rem; }
svg text { font: 12px system-ui, sans-serif; fill: var(--muted); }
svg text.number { font-size: 10.5px; font-weight: 600; fill: var(--page); }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .line { fill: none; stroke: var(--accent); stroke-width: 2; }
svg .dot { fill: var(--accent); stroke: var(--page); stroke-width: 1; }
svg .roof-name { paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round; fill: var(--text); }
svg .roof { fill: none; stroke: var(--text); stroke-width: 1.5; }
svg .roof.cache { stroke-dasharray: 5 4; }
footer { margin-top: 3rem; font-size: .875rem; }
@media (max-width: 40rem) {
  .wide { display: none; }
  th, td { padding: .35rem .4rem; }
  tbody th { min-width: 7rem; }
  .bars li { grid-template-columns: 1fr auto; row-gap: .1rem; }
  .bars .track { grid-column: 1 / -1; grid-row: 2; }
  .card .bars li { grid-template-columns: 1fr auto; }
  svg.roofline text { font-size: 16px; }
  svg.roofline text.number { font-size: 12px; }
}
)css";

}  // namespace

const char* report_style() { return kStyle; }

}  // namespace lathe
