import { renderInput, renderProblem, renderSubmit } from '../fields.ts';
import { html, type SafeHtml } from '../html.ts';
import type { Page } from '../page.ts';
import type { PageProblem } from '../problems.ts';
import { humanizeName } from './provider-fields.ts';

/** Characters of one value that the page shows. */
const MAX_TEXT = 20_000;

export interface ShareEntryView {
  readonly action: string;
  readonly formToken: SafeHtml;
  readonly needsPassword: boolean;
  readonly problem?: PageProblem | undefined;
}

/** The page before the shared item. Opening it uses up nothing of a share whose uses are limited. */
export const createShareEntryPage = ({ action, formToken, needsPassword, problem }: ShareEntryView): Page => ({
  title: 'Shared with you',
  lead: needsPassword ? 'Enter the password that you were given.' : 'Someone shared an item with you.',
  body: html`${renderProblem(problem)}
<form method="post" action="${action}">
${formToken}
${
  needsPassword &&
  renderInput({ id: 'password', label: 'Password', type: 'password', autocomplete: 'off', autofocus: true }, problem)
}
${renderSubmit('Open')}
</form>`,
});

/** The fields of the shared item, as the visitor may read them. */
export const createSharedItemPage = (collection: string, item: Readonly<Record<string, unknown>>): Page => ({
  title: humanizeName(collection.replace(/^platform_/, '')),
  isWide: true,
  body: html`<div class="table" tabindex="0" role="region" aria-label="Fields of the shared item"><table><tbody>
${Object.entries(item).map(
  ([name, value]) => html`<tr><th scope="row">${humanizeName(name)}</th><td>${renderValue(value)}</td></tr>
`,
)}
</tbody></table></div>`,
});

function renderValue(value: unknown): SafeHtml {
  if (value === null || value === undefined || value === '') return html`<span class="empty">empty</span>`;
  if (typeof value === 'boolean') return html`${value ? 'Yes' : 'No'}`;
  if (typeof value === 'object') {
    const isPlainList = Array.isArray(value) && value.every((one) => typeof one !== 'object');
    if (isPlainList && value.length === 0) return html`<span class="empty">empty</span>`;
    return isPlainList
      ? html`${shorten(value.join(', '))}`
      : html`<pre>${shorten(JSON.stringify(value, null, 2))}</pre>`;
  }
  return html`${shorten(String(value))}`;
}

const shorten = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
