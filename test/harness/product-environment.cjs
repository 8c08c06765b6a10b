const { TestEnvironment } = require('jest-environment-node');
require('./typescript.cjs');

/** Processes of this jest worker: they outlive its test files, and end with it. */
let shared;

/** Gives tests `startSharedProcesses()`: an API and simulated clouds that the files of one jest worker share. */
module.exports = class ProductEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.startSharedProcesses = () => {
      shared ??= require('./product-processes.ts').startProcesses({ shared: true });
      return shared;
    };
  }
};
