import { Outcomes } from '../outcomes';
import { sendPaced, type Write } from './paced-writes';

describe('A process that was suspended between two writes of a call', () => {
  afterEach(() => vi.restoreAllMocks());

  it('sends no further one', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const sent: string[] = [];
    const write = (key: string): Write => ({
      key,
      start: () => {
        sent.push(key);
        now += 600_000;
        return Promise.resolve(() => Promise.resolve({ id: key }));
      },
    });
    const outcomes = new Outcomes('Google', 20_000);
    await sendPaced(['first', 'second'].map(write), outcomes);
    expect(sent).toEqual(['first']);
    expect([outcomes.of('first'), outcomes.of('second')]).toMatchObject([
      { result: 'done' },
      { result: 'refused', kind: 'transient' },
    ]);
  });
});
