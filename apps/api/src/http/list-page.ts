import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import type { Slice, Sliced } from '#entities';

/** A page of a list, as a handler returns it. The response has its items, and headers about the list. */
export class ListPage<Item> {
  constructor(
    readonly slice: Slice,
    readonly list: Sliced<Item>,
  ) {}

  map<Shown>(shown: (item: Item) => Shown): ListPage<Shown> {
    const { rows, total } = this.list;
    return new ListPage(this.slice, { rows: rows.map((row) => shown(row)), total });
  }
}

/** Sends the items of a `ListPage`, with the total (`X-Total-Count`) and links to the adjacent pages (`Link`). */
@Injectable()
export class ListPageInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      map((answer: unknown) => {
        if (!(answer instanceof ListPage)) return answer;
        writeHeaders(response, answer.slice, answer.list.total);
        return answer.list.rows as unknown;
      }),
    );
  }
}

function writeHeaders(response: Response, { page, size }: Slice, total: number): void {
  response.setHeader('X-Total-Count', String(total));
  const [path, query] = response.req.originalUrl.split('?');
  const link = (to: number, rel: string): string => {
    const given = new URLSearchParams(query);
    given.set('page', String(to));
    given.set('size', String(size));
    return `<${path}?${given}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 0 ? [link(page - 1, 'prev')] : []),
    ...((page + 1) * size < total ? [link(page + 1, 'next')] : []),
  ];
  if (links.length > 0) response.setHeader('Link', links.join(', '));
}
