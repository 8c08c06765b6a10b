import { HttpException, HttpStatus } from '@nestjs/common';
import type { Scope } from './scopes';

/** A key lacks the scope that an endpoint requires. Its two-field body is sent unchanged. */
export class ScopeError extends HttpException {
  constructor(readonly scope: Scope) {
    super(
      { error: 'Insufficient permissions', message: `API key does not have required scope: ${scope}` },
      HttpStatus.FORBIDDEN,
    );
  }
}
