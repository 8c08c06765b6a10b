/** The page's style sheet: system fonts, light and dark, one column on a phone. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f2, #14171a);
  --card: light-dark(#ffffff, #1d2126);
  --line: light-dark(#dcdfd8, #30363d);
  --ink: light-dark(#1c2024, #e8eaed);
  --quiet: light-dark(#5d656d, #9aa4ae);
  --ours: light-dark(#0b6b53, #58d3ab);
  --ours-soft: light-dark(#ddf2ea, #173a30);
  --unmanaged: light-dark(#8a5200, #f0b35a);
  --unmanaged-soft: light-dark(#fbeed6, #3d2e14);
  --alarm: light-dark(#b3261e, #ff8a80);
  --alarm-soft: light-dark(#fbe3e1, #46201d);
  --focus: light-dark(#1a5fd0, #8ab4ff);
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif;
}
code, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.92em; }
header {
  display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: baseline;
  padding: 20px clamp(14px, 3vw, 32px) 14px; border-bottom: 1px solid var(--line);
}
h1 { font-size: 1.3rem; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 0.95rem; margin: 0 0 10px; }
header p { margin: 0; color: var(--quiet); flex: 1 1 22ch; }
#link { display: inline-flex; align-items: center; gap: 7px; color: var(--quiet); }
#link::before { content: ''; width: 9px; height: 9px; border-radius: 50%; background: var(--ours); }
#link.lost { color: var(--alarm); }
#link.lost::before { background: var(--alarm); }
main {
  display: grid; grid-template-columns: minmax(0, 1fr) minmax(290px, 360px); gap: 22px;
  padding: 18px clamp(14px, 3vw, 32px) 40px; align-items: start;
}
#targets { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 330px), 1fr)); gap: 12px; align-items: start; }
.card, section.panel { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px; }
.card.open { border-color: var(--ours); }
.card header { all: unset; display: flex; justify-content: space-between; gap: 10px; align-items: baseline; }
.card header b { flex: 1; font-weight: 600; overflow-wrap: anywhere; }
.provider { color: var(--quiet); font-size: 0.8rem; }
.count { color: var(--quiet); white-space: nowrap; }
.card.open .count { color: var(--ours); }
ul, ol { list-style: none; margin: 0; padding: 0; }
.rule {
  display: grid; grid-template-columns: minmax(0, 1fr) auto auto; gap: 2px 10px; align-items: center;
  padding: 8px 0 0; margin-top: 8px; border-top: 1px solid var(--line);
}
.rule .where { overflow-wrap: anywhere; font-weight: 600; }
.rule .detail { grid-column: 1; color: var(--quiet); font-size: 0.86rem; }
.badge { border-radius: 99px; padding: 1px 9px; font-size: 0.8rem; white-space: nowrap; }
.ours .badge { background: var(--ours-soft); color: var(--ours); }
.unmanaged .badge { background: var(--unmanaged-soft); color: var(--unmanaged); }
.rule.new { animation: arrive 1.6s ease-out; }
.rule.gone { animation: leave 1.4s ease-in forwards; pointer-events: none; }
.rule.gone .where, .rule.gone .detail { text-decoration: line-through; }
@keyframes arrive { from { background: var(--ours-soft); transform: translateY(-5px); } }
@keyframes leave { 30% { background: var(--alarm-soft); } to { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { .rule.new, .rule.gone { animation: none; } }
.column { display: grid; gap: 14px; min-width: 0; }
#timeline { max-height: 520px; overflow: auto; }
#timeline li { display: grid; grid-template-columns: auto 1fr; gap: 0 14px; padding: 6px 0; border-top: 1px solid var(--line); font-size: 0.88rem; }
#timeline li:first-child { border-top: 0; }
#timeline time { color: var(--quiet); }
#timeline .what { overflow-wrap: anywhere; }
#timeline .opened b { color: var(--unmanaged); }
#timeline .closed b { color: var(--ours); }
.empty { color: var(--quiet); margin: 0; }
form { display: grid; grid-template-columns: 1fr 1fr; gap: 9px; }
label { display: grid; gap: 3px; font-size: 0.82rem; color: var(--quiet); min-width: 0; }
label.wide, form > button, .message { grid-column: 1 / -1; }
input, select, button {
  font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--line);
  border-radius: 7px; padding: 7px 9px; min-width: 0; width: 100%;
}
button { cursor: pointer; font-weight: 600; }
button:hover { border-color: var(--ink); }
button.main { background: var(--ink); color: var(--ground); border-color: var(--ink); }
button.small { width: auto; padding: 2px 9px; font-weight: 400; font-size: 0.82rem; color: var(--quiet); background: none; }
.rule .badge { grid-row: 1 / span 2; grid-column: 2; }
.rule button.small { grid-row: 1 / span 2; grid-column: 3; }
.name { white-space: nowrap; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
.message { margin: 0; font-size: 0.85rem; color: var(--alarm); overflow-wrap: anywhere; }
.message:empty { display: none; }
#faults li, #people li { padding: 6px 0; border-top: 1px solid var(--line); font-size: 0.88rem; overflow-wrap: anywhere; }
#faults b { color: var(--alarm); }
.row { display: flex; gap: 9px; justify-content: space-between; align-items: baseline; }
#closed { margin: 0; color: var(--quiet); font-size: 0.88rem; }
#closed:empty { display: none; }
@media (max-width: 860px) { main { grid-template-columns: minmax(0, 1fr); } }
`;
