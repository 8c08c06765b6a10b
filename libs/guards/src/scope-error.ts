import { HttpException, HttpStatus } from '@nestjs/common';
import type { Scope } from './scopes';

/** A key without the scope an endpoint asks for. Its two-field body goes out as it is. */
export class ScopeError extends HttpException {
  constructor(readonly scope: Scope) {
    super(
      { error: 'Insufficient permissions', message: `API key does not have required scope: ${scope}` },
      HttpStatus.FORBIDDEN,
    );
  }
}
