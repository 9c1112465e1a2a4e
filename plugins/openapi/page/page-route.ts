import type { Route } from '../../http/contract.ts';
import { setContentSecurityPolicy } from '../../http/library.ts';
import { PAGE_DESCRIPTION } from '../route-descriptions.ts';
import type { PageFileNames, PageFiles } from './page-files.ts';

/**
 * Content security policy: the page loads from its own origin only, and runs no inline script and no inline style. Images of the style
 * sheet are part of it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `GET /server/specs/oas/page`: the document, to be read and searched by people. */
export const createPageRoute = (load: () => Promise<PageFiles>): Route => ({
  method: 'GET',
  path: '/server/specs/oas/page',
  description: PAGE_DESCRIPTION,
  async handle(ctx) {
    // The page of the path with a slash would look for its files one level too deep.
    const base = ctx.path.endsWith('/') ? '.' : './page';
    const { names } = await load();
    ctx.status = 200;
    setContentSecurityPolicy(ctx, POLICY);
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = renderPage(base, names);
  },
});

/** Its URLs are relative, since a proxy may serve the service below a path. */
const renderPage = (base: string, names: PageFileNames): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/${names.viewerStyle}">
<link rel="stylesheet" href="${base}/${names.style}">
<script defer src="${base}/${names.viewerScript}"></script>
<script type="module" src="${base}/${names.documentPart}"></script>
<script type="module" src="${base}/${names.script}"></script>
</head>
<body>
<header>
<h1>API reference <span id="version"></span></h1>
<form id="token-form" autocomplete="off">
<label for="token">Access token</label>
<input id="token" type="password" placeholder="none" spellcheck="false">
<button type="submit">Use</button>
</form>
<button id="appearance" type="button">Dark</button>
</header>
<p id="status" role="status"></p>
<div class="columns">
<nav aria-label="Operations">
<input id="search" type="search" aria-label="Search" placeholder="Search operations">
<p id="found" role="status"></p>
<ul id="tags"></ul>
</nav>
<main id="document" data-document="${base}/../../oas" hidden></main>
</div>
<noscript>This page needs JavaScript. The document itself is at /server/specs/oas.</noscript>
</body>
</html>
`;
