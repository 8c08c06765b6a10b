import { Outcomes } from '../outcomes';
import { sendPaced, type Write } from './paced-writes';

describe('A process that was suspended between two writes of a call', () => {
  it('sends no further one', async () => {
    const sent: string[] = [];
    const write = (key: string): Write => ({
      key,
      start: async () => {
        sent.push(key);
        await new Promise((resolve) => setTimeout(resolve, 30));
        return () => Promise.resolve({ id: key });
      },
    });
    const outcomes = new Outcomes('Google', performance.now() + 10);
    await sendPaced(['first', 'second'].map(write), outcomes);
    expect(sent).toEqual(['first']);
    expect([outcomes.of('first'), outcomes.of('second')]).toMatchObject([
      { result: 'done' },
      { result: 'refused', kind: 'transient' },
    ]);
  });
});
