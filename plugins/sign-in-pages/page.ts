import type { Branding } from './branding.ts';
import type { EmbeddedHtml } from './embedded-html.ts';
import { attributes, html, type SafeHtml } from './html.ts';

/** The content of a page, inside of the frame that all pages share. */
export interface Page {
  readonly title: string;
  /** Below the title. */
  readonly lead?: string;
  readonly body: SafeHtml;
  /** The page loads the script of passkeys. */
  readonly hasPasskeys?: boolean;
  /** For tables: the page is wide, and has no picture. */
  readonly isWide?: boolean;
}

/** Names of the files that pages load, which have a hash of their content. */
export interface PageFileNames {
  readonly style: string;
  readonly passkeys: string;
  readonly icon: string;
}

export interface PageFrame {
  /** The root of the service, relative to the address of the page, such as `..`. */
  readonly root: string;
  readonly branding: Branding;
  readonly files: PageFileNames;
  readonly embedded: EmbeddedHtml | undefined;
}

/** Renders a whole document. Its URLs are relative, since a proxy may serve the service below a path. */
export function renderDocument(page: Page, { root, branding, files, embedded }: PageFrame): string {
  const { name, descriptor, logo, favicon, foreground, appearance, note, theme } = branding;
  const file = (one: string) => `${root}/admin/sign-in/${one}`;
  const project = html`<header class="project">
${
  logo
    ? html`<img class="logo" src="${root}/${logo}" alt="" width="44" height="44">`
    : html`<span class="monogram" aria-hidden="true">${[...name.trim()][0]?.toUpperCase() ?? ''}</span>`
}
<p><strong>${name}</strong>${descriptor && html`<span class="descriptor">${descriptor}</span>`}</p>
</header>`;
  const { text } = html`<html lang="en" data-appearance="${appearance}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${appearance === 'auto' ? 'light dark' : appearance}">
<meta name="robots" content="noindex">
<title>${page.title} · ${name}</title>
<link rel="icon"${attributes({ href: favicon ? `${root}/${favicon}` : file(files.icon) })}>
<link rel="stylesheet" href="${file(files.style)}">
<link rel="stylesheet" href="${file(theme.name)}">
${page.hasPasskeys && html`<script type="module" src="${file(files.passkeys)}"></script>`}
${embedded?.head}
</head>
<body${attributes({ class: page.isWide ? 'wide' : undefined })}>
<div class="panel">
${project}
<main>
<h1>${page.title}</h1>
${page.lead && html`<p class="lead">${page.lead}</p>`}
${page.body}
</main>
${note && html`<footer class="note">${note}</footer>`}
</div>
${
  !page.isWide &&
  html`<div class="scene" aria-hidden="true">${foreground && html`<img src="${root}/${foreground}" alt="">`}</div>`
}
${embedded?.body}
</body>
</html>
`;
  return `<!doctype html>\n${text}`;
}
