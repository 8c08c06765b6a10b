import { Database } from '#entities';
import { cloneDatabase } from '../harness/database';
import { Chance } from '../simulation/chance';
import { Both, furnish, Play, type Furnished } from './model-play';

const HISTORIES = Number(process.env['MODEL_HISTORIES'] ?? 100);
const STEPS = 30;

describe('The model the simulation runs on', () => {
  let database: Database;
  let drop: () => Promise<void>;
  let furnished: Furnished;

  beforeAll(async () => {
    const clone = await cloneDatabase();
    drop = clone.drop;
    database = await new Database({ url: clone.url, applicationName: 'model-test', poolSize: 4 }).connect();
    furnished = await furnish(database.autocommit);
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });

  it.each(Array.from({ length: HISTORIES }, (_, index) => index + 1))('history %i', async (seed) => {
    const chance = new Chance(seed);
    const both = new Both(database);
    const play = new Play(both, chance, furnished);
    await play.begin(database.autocommit);
    for (let step = 0; step < STEPS; step += 1) {
      both.now += chance.pick([200, 1100, 6100, 11_000, 31_000, 310_000]);
      await play.step();
      expect(await play.realRows()).toEqual(play.modelRows());
    }
  });
});
