import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import foundLately from './found-lately.json';
import { PLANTED_BUGS } from './planted-bugs';

const ROOT = join(__dirname, '..', '..');

describe('A planted bug', () => {
  it.each(Object.entries(PLANTED_BUGS))('%s replaces a text that occurs once in its file', (_, { edits }) => {
    for (const { file, find } of edits) {
      const source = readFileSync(join(ROOT, file), 'utf8');
      expect({ file, find, times: source.split(find).length - 1 }).toEqual({ file, find, times: 1 });
    }
  });

  it('has a seed that has found it lately: a search takes minutes', () =>
    expect(Object.keys(foundLately)).toEqual(Object.keys(PLANTED_BUGS)));
});
