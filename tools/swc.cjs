/**
 * How the product and its tests are compiled, each file by itself: NestJS and class-validator read the types of decorated
 * members at run time. Types are checked by `npm run lint`. @param {'commonjs' | 'es6'} type
 */
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
