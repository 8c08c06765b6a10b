import { compareModel } from './model-histories';

const HISTORIES = Number(process.env['MODEL_HISTORIES'] ?? 90);

describe('The model the simulation runs on, at length', () => {
  compareModel(11, HISTORIES);
});
