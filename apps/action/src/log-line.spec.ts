import { logLine } from './log-line';

describe('A line of the job log', () => {
  it.each([
    ['begins no other line', 'a\n::set-output name=x::1', 'a\\u000a::set-output name=x::1'],
    ['is no command at its beginning', ' ::add-mask::x', ': :add-mask::x'],
    ['is no command of older runners', 'no resource "##[add-mask]x"', 'no resource "## [add-mask]x"'],
    ['hides nothing', 'a\u001B[2Kb\u202Ec', 'a\\u001b[2Kb\\u202ec'],
    ['is what it was otherwise', 'Größe 👩\u200D💻: 10 s', 'Größe 👩\u200D💻: 10 s'],
  ])('%s', (_, given, shown) => {
    expect(logLine(given)).toBe(shown);
  });
});
