import type { HttpContext } from '../../http/contract.ts';
import { setContentSecurityPolicy } from '../../http/library.ts';
import type { ExplorerBundle } from './bundle.ts';

/**
 * Content security policy: the page loads from its own origin only, and runs only its own scripts. Inline styles are
 * allowed, since the editor sets them on its elements.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Sends the page. Its URLs are relative, since a proxy may serve the service below a path. */
export function sendExplorerPage(ctx: HttpContext, scope: string, { script, style, workers }: ExplorerBundle): void {
  const root = [
    '.',
    ...ctx.path
      .split('/')
      .slice(2)
      .map(() => '..'),
  ].join('/');
  const file = (name: string) => `${root}/graphql/explorer/${name}`;
  ctx.status = 200;
  ctx.vary('Accept');
  setContentSecurityPolicy(ctx, POLICY);
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>GraphQL: ${scope}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${file(style)}">
<script type="module" src="${file(script)}"></script>
</head>
<body>
<div id="explorer" data-scope="${scope}" data-root="${root}" data-workers='${JSON.stringify(workers)}'></div>
<noscript>This page needs JavaScript. Clients send documents to the same address by POST.</noscript>
</body>
</html>
`;
}
