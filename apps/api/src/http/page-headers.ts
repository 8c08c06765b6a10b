import type { Response } from 'express';
import type { Slice } from '#entities';

/** Sets the total number of items (`X-Total-Count`) and links to the adjacent pages (`Link`). */
export function writePageHeaders(response: Response, slice: Slice, total: number): void {
  response.setHeader('X-Total-Count', String(total));
  const link = (page: number, rel: string): string => {
    const query = new URLSearchParams(response.req.originalUrl.split('?')[1] ?? '');
    query.set('page', String(page));
    query.set('size', String(slice.size));
    return `<${response.req.originalUrl.split('?')[0]}?${query}>; rel="${rel}"`;
  };
  const links = [
    ...(slice.page > 0 ? [link(slice.page - 1, 'prev')] : []),
    ...((slice.page + 1) * slice.size < total ? [link(slice.page + 1, 'next')] : []),
  ];
  if (links.length > 0) response.setHeader('Link', links.join(', '));
}
