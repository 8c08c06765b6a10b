import type { Options } from '@swc/core';

export function swcOptions(filename: string, type: 'commonjs' | 'es6'): Options;
