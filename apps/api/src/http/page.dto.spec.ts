import { pageOf } from './page.dto';

describe('pageOf', () => {
  it.each([
    ['no items', 0, 0, 20, 0, { totalPages: 0, first: true, last: true }],
    ['one partial page', 3, 0, 20, 3, { totalPages: 1, first: true, last: true }],
    ['one full page', 20, 0, 20, 20, { totalPages: 1, first: true, last: true }],
    ['the first of two pages', 21, 0, 20, 20, { totalPages: 2, first: true, last: false }],
    ['the second of two pages', 21, 1, 20, 1, { totalPages: 2, first: false, last: true }],
    ['a page in the middle', 5, 1, 2, 2, { totalPages: 3, first: false, last: false }],
    ['a page after the last one', 5, 9, 2, 0, { totalPages: 3, first: false, last: true }],
  ])('%s', (_, total, page, size, here, expected) => {
    const content = Array.from({ length: here }, (_item, index) => index);
    expect(pageOf(content, total, { page, size })).toEqual({
      content,
      totalElements: total,
      number: page,
      size,
      numberOfElements: here,
      ...expected,
    });
  });
});
