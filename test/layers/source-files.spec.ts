import { longest, medianLines, sourceFiles } from './source-files';

const MAX_LINES = 350;
const MAX_MEDIAN_LINES = 100;

describe('Source files', () => {
  it(`have at most ${MAX_LINES} lines, tests included`, () => {
    const { path, lines } = longest(sourceFiles());
    expect(lines <= MAX_LINES ? null : `${path} has ${lines} lines`).toBeNull();
  });

  it(`have fewer than ${MAX_MEDIAN_LINES} lines by the median`, () => {
    expect(medianLines(sourceFiles())).toBeLessThan(MAX_MEDIAN_LINES);
  });
});
