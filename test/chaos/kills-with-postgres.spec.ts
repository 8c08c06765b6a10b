import { describeKills } from './run-with-kills';

describe('Chaos run with the queue on PostgreSQL', () => {
  describeKills(false);
});
