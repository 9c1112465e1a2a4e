import { createHash } from 'node:crypto';
import type { PageEmbed } from './contract.ts';
import { SafeHtml } from './html.ts';

/** HTML of extensions for one page, and the sources that its policy has to allow. */
export interface EmbeddedHtml {
  readonly head: SafeHtml;
  readonly body: SafeHtml;
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

const ELEMENT = /<(script|style)\b([^>]*)>([\s\S]*?)<\/\1\s*>/gi;
const STYLESHEET = /<link\b[^>]*\brel\s*=\s*["']?stylesheet\b[^>]*>/gi;

/** Undefined where no extension adds anything. */
export function renderEmbeddedHtml(embeds: readonly PageEmbed[]): EmbeddedHtml | undefined {
  const parts = embeds.map((one) => one.render());
  const [head, body] = [parts.map((one) => one.head).join('\n'), parts.map((one) => one.body).join('\n')];
  if (head.trim() === '' && body.trim() === '') return undefined;
  const [scripts, styles] = [new Set<string>(), new Set<string>()];
  for (const [, name = '', attributes = '', text = ''] of `${head}\n${body}`.matchAll(ELEMENT)) {
    const source = originOf(attributes, 'src');
    (name.toLowerCase() === 'script' ? scripts : styles).add(source ?? hashSource(text));
  }
  for (const [link] of `${head}\n${body}`.matchAll(STYLESHEET)) styles.add(originOf(link, 'href') ?? "'self'");
  return { head: new SafeHtml(head), body: new SafeHtml(body), scripts: [...scripts], styles: [...styles] };
}

/** An inline script or style by its hash, so that no other one runs. */
const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The origin of an address in an attribute: `'self'` for relative ones, undefined without the attribute. */
function originOf(attributes: string, name: string): string | undefined {
  const [, address] = new RegExp(`\\b${name}\\s*=\\s*["']?([^"'\\s>]+)`, 'i').exec(attributes) ?? [];
  if (address === undefined) return undefined;
  const url = URL.parse(address);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.origin : "'self'";
}
