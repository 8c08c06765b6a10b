import { STYLE } from '../page/style';
import type { Person } from './people';

/** The page on which a person chooses an identity. */
export const signInPage = (people: readonly Person[]): string =>
  page(`
<p>Who signs in to Drawbridge? No password is needed here.</p>
<form method="post">
  ${people.map(button).join('\n  ')}
  <label class="wide check"><input type="checkbox" name="secondFactor"> with a second factor</label>
  <button class="small" name="person" value="">Cancel</button>
</form>
<p class="empty">Groups and disabled people are changed on <a href="/">the page of the simulated cloud</a>.</p>`);

/** A page that says one thing. */
export const messagePage = (message: string): string => page(`<p>${escaped(message)}</p>`);

const button = ({ subject, name, email, groups, isDisabled }: Person): string => {
  const about = isDisabled ? 'disabled' : groups.length === 0 ? 'in no group' : `in ${groups.join(', ')}`;
  const state = isDisabled ? ' disabled' : '';
  return `<button class="main" name="person" value="${subject}"${state}>${name}<br>${email}, ${escaped(about)}</button>`;
};

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const page = (content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Simulated identity provider</title>
<link rel="icon" href="data:,">
<style>${STYLE}
main { display: block; max-width: 460px; }
.check { display: flex; gap: 9px; }
.check input { width: auto; }
</style>
</head>
<body>
<header><h1>Simulated identity provider</h1></header>
<main><section class="panel">${content}</section></main>
</body>
</html>
`;
