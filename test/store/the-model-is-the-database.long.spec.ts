import { compareModel } from './model-histories';

const HISTORIES = Number(process.env['MODEL_HISTORIES'] ?? 20);

describe('The model the simulation runs on, at length', () => {
  compareModel(11, HISTORIES);
});
