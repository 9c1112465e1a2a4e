import { html, type SafeHtml } from '../html.ts';

/** Drawings in a square of 24, by the names that drivers use for icons. Others are shown by the first letter of the provider. */
const DRAWINGS: Readonly<Record<string, SafeHtml>> = {
  account_circle: html`<circle cx="12" cy="12" r="9"/><circle cx="12" cy="10" r="3"/><path d="M6.5 18.5c1.2-2.3 3.2-3.5 5.5-3.5s4.3 1.2 5.5 3.5"/>`,
  key: html`<circle cx="8" cy="14" r="4"/><path d="m11 11 8-8M16 6l3 3"/>`,
  lock: html`<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>`,
  fingerprint: html`<path d="M12 11v3c0 2.5-.6 4.6-1.5 6.5M8.5 18.5c.6-1.5 1-3 1-4.5v-3a2.5 2.5 0 0 1 5 0v3c0 2-.3 3.8-1 5.5M5.5 16c.3-1 .5-2 .5-3v-2a6 6 0 0 1 12 0v2c0 1.5-.1 3-.4 4.5M4 8a9 9 0 0 1 16 0"/>`,
  business: html`<path d="M4 20V5h9v15M13 9h7v11M2.5 20h19M7 9h3M7 13h3M16 13h1M16 16h1M7 17h3"/>`,
  group: html`<circle cx="9" cy="9" r="3"/><path d="M3.5 19c.6-3 2.7-4.5 5.5-4.5s4.9 1.5 5.5 4.5M15 6.3a3 3 0 0 1 0 5.4M17 15c2 .6 3.2 2 3.6 4"/>`,
  shield: html`<path d="M12 3 5 6v5c0 4.5 2.8 8 7 10 4.2-2 7-5.5 7-10V6z"/><path d="m9 12 2 2 4-4"/>`,
};
const SAME_DRAWING: Readonly<Record<string, string>> = {
  account_box: 'account_circle',
  person: 'account_circle',
  badge: 'account_circle',
  vpn_key: 'key',
  passkey: 'fingerprint',
  domain: 'business',
  apartment: 'business',
  groups: 'group',
  security: 'shield',
  verified_user: 'shield',
};

/** The icon of a provider, as decoration: its name stands beside it. */
export function renderProviderIcon(icon: string | null, label: string): SafeHtml {
  const name = icon !== null && Object.hasOwn(SAME_DRAWING, icon) ? (SAME_DRAWING[icon] as string) : icon;
  if (name === null || !Object.hasOwn(DRAWINGS, name))
    return html`<span class="letter" aria-hidden="true">${[...label][0]?.toUpperCase() ?? ''}</span>`;
  return html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${DRAWINGS[name]}</svg>`;
}
