const { relative } = require('node:path');

const SHOWN = 10;

/** A jest reporter: says at the end which suites took longest. */
module.exports = class SlowestSuites {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onRunComplete(_, { testResults }) {
    if (testResults.length <= SHOWN) return;
    const slowest = testResults
      .map(({ testFilePath, perfStats }) => ({ testFilePath, seconds: perfStats.runtime / 1000 }))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, SHOWN);
    const lines = slowest.map(
      ({ testFilePath, seconds }) =>
        `${seconds.toFixed(0).padStart(5)} s  ${relative(this.rootDir, testFilePath)}`,
    );
    process.stderr.write(`\nThe slowest of ${testResults.length} suites:\n${lines.join('\n')}\n`);
  }
};
