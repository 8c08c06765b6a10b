import { HttpStatus } from '@nestjs/common';

export const API_PREFIX = '/api/v1';

/** The format of an error body: generic, or one of two coded formats, which differ in their code for 400. */
export type ErrorShape = 'generic' | 'coded-validation' | 'coded-request';

const CODED_PATHS: readonly (readonly [path: string, shape: ErrorShape])[] = [
  ['/resources', 'coded-validation'],
  ['/credentials', 'coded-validation'],
  ['/static-ip-rules', 'coded-request'],
  ['/organization/settings', 'coded-request'],
  ['/billing', 'coded-request'],
];

const CODES: Readonly<Partial<Record<number, string>>> = {
  [HttpStatus.BAD_REQUEST]: 'BAD_REQUEST',
  [HttpStatus.UNAUTHORIZED]: 'UNAUTHORIZED',
  [HttpStatus.FORBIDDEN]: 'FORBIDDEN',
  [HttpStatus.NOT_FOUND]: 'NOT_FOUND',
  [HttpStatus.METHOD_NOT_ALLOWED]: 'METHOD_NOT_ALLOWED',
  [HttpStatus.CONFLICT]: 'CONFLICT',
  [HttpStatus.PAYLOAD_TOO_LARGE]: 'PAYLOAD_TOO_LARGE',
  [HttpStatus.UNSUPPORTED_MEDIA_TYPE]: 'UNSUPPORTED_MEDIA_TYPE',
  [HttpStatus.UNPROCESSABLE_ENTITY]: 'UNPROCESSABLE_ENTITY',
  [HttpStatus.TOO_MANY_REQUESTS]: 'RATE_LIMIT_EXCEEDED',
  [HttpStatus.SERVICE_UNAVAILABLE]: 'SERVICE_UNAVAILABLE',
};

/** @param path the request's path without its query */
export function errorShapeOf(path: string): ErrorShape {
  // routes match case-insensitively
  const lower = path.toLowerCase();
  const found = CODED_PATHS.find(([coded]) => {
    const whole = API_PREFIX + coded;
    return lower === whole || lower.startsWith(`${whole}/`);
  });
  return found?.[1] ?? 'generic';
}

/** The default code of a status in a coded body. */
export function codeOf(status: number, shape: ErrorShape): string {
  if (status === 400 && shape === 'coded-validation') return 'VALIDATION_ERROR';
  return CODES[status] ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_ERROR');
}
