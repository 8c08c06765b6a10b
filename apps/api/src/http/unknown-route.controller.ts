import { All, Controller, HttpStatus, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '#guards';
import { ApiError, notFound } from '../errors';

/** A layer of Express's router. */
interface RouterLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

interface ExpressApplication {
  readonly router: { readonly stack: readonly RouterLayer[] };
}

const ANY_PATH = '{*path}';

/** Answers unknown paths under the API's prefix with 404 or 405. A route, so that the rate limiter counts the requests. */
@ApiExcludeController()
@Controller()
export class UnknownRouteController {
  constructor(private readonly adapter: HttpAdapterHost) {}

  @Public()
  @All(ANY_PATH)
  refuse(@Req() request: Request, @Res({ passthrough: true }) response: Response): void {
    const allowed = this.methodsOf(request.path);
    if (allowed.length === 0) throw notFound('There is no such endpoint: the documentation is at /docs');
    response.setHeader('Allow', allowed.join(', '));
    if (request.method === 'OPTIONS') {
      response.status(HttpStatus.NO_CONTENT);
      return;
    }
    throw new ApiError(
      HttpStatus.METHOD_NOT_ALLOWED,
      `${request.method} is not possible here, only ${allowed.join(', ')}`,
    );
  }

  private methodsOf(path: string): string[] {
    const { router } = this.adapter.httpAdapter.getInstance<ExpressApplication>();
    const methods = router.stack.flatMap((layer) => {
      const known = layer.route && !layer.route.path.endsWith(ANY_PATH) && layer.match(path);
      return known ? Object.keys(layer.route?.methods ?? {}) : [];
    });
    if (methods.length === 0) return [];
    const implied = [...(methods.includes('get') ? ['head'] : []), 'options'];
    return [...new Set([...methods, ...implied])].map((method) => method.toUpperCase()).sort();
  }
}
