import { Database } from '#entities';
import { cloneDatabase } from '../harness/database';
import { SeededRandom } from '../simulation/seeded-random';
import { Both } from './model-both';
import { furnish, type Furnished } from './model-furniture';
import { Play } from './model-play';

const STEPS = 30;

/** Plays random calls against the model the simulation runs on and against PostgreSQL, and compares. */
export function compareModel(firstSeed: number, histories: number): void {
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

  it.each(Array.from({ length: histories }, (_, index) => firstSeed + index))('history %i', async (seed) => {
    const chance = new SeededRandom(seed);
    const both = new Both(database);
    const play = new Play(both, chance, furnished);
    await play.begin(database.autocommit);
    for (let step = 0; step < STEPS; step += 1) {
      // no sum of these is a term of the product's
      both.now += chance.pick([203, 1109, 6121, 11_027, 31_033, 310_019]);
      await play.step();
      expect(await play.realRows()).toEqual(play.modelRows());
    }
  });
}
