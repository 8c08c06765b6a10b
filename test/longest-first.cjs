const { default: Sequencer } = require('@jest/test-sequencer');

/** Minutes at the end would be spent by one worker while the others idle: what takes longest begins first. */
const FIRST = [
  'test/chaos/kills-with-postgres',
  'test/hostile/linear-time',
  'test/conformance/',
  'test/e2e/the-console-is-right',
  'test/e2e/run-gives-access',
  'test/e2e/the-command-line',
  'test/e2e/the-image',
  'test/e2e/the-first-five-minutes',
  'test/e2e/an-agent-waits',
  'test/e2e/an-idle-agent',
  'test/chaos/scenarios/b-cloud',
  'test/chaos/scenarios/l-unwanted',
  'test/simulation/',
  // not at the same time as the other one
  'test/chaos/kills-with-redis',
  'test/chaos/scenarios/',
  'test/store/',
  'test/e2e/',
];

const rank = ({ path }) => {
  const index = FIRST.findIndex((part) => path.replaceAll('\\', '/').includes(`/${part}`));
  return index === -1 ? FIRST.length : index;
};

/** On a machine that has not run the tests before, jest knows only how large the files are. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
};
