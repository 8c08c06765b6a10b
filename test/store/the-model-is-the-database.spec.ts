import { compareModel } from './model-histories';

describe('The model the simulation runs on', () => {
  compareModel(1, 10);
});
