import { MARKUP } from './markup';
import { SCRIPT } from './script';
import { STYLE } from './style';

/** The page at `/`, without external resources: open rules, timeline, unmanaged rules and faults. */
export const renderPage = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Simulated cloud</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>${MARKUP}<script>${SCRIPT}</script></body>
</html>
`;
