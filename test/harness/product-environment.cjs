const { TestEnvironment } = require('jest-environment-node');
require('./typescript.cjs');

/** Of this jest worker: they outlive its test files. */
const contracts = new Map();

/** What is costly to make, and the same for all test files: a running product, and the compiled OpenAPI document. */
module.exports = class ProductEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.sharedProcesses = (options) => require('./shared-products.ts').sharedProcesses(options);
    this.global.sharedContract = (text) => {
      const { OpenApiContract } = require('./openapi-contract.ts');
      if (!contracts.has(text)) contracts.set(text, new OpenApiContract(text));
      return contracts.get(text);
    };
  }
};
