/** How tests compile TypeScript: as the build does, where it shows when the program runs. @param {'commonjs' | 'es6'} type */
exports.swcOptions = (filename, type) => ({
  filename,
  configFile: false,
  swcrc: false,
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
    target: 'es2023',
  },
  module: { type },
});
