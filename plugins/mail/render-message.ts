import type { TemplateService } from '../templates/contract.ts';
import type { MailMessage } from './contract.ts';
import { renderText } from './render-text.ts';
import type { ReadTemplate } from './template-files.ts';

/** The template that surrounds the HTML of each message. */
const BASE = 'base';

interface Deps {
  readonly templates: Pick<TemplateService, 'render'>;
  readonly readTemplate: ReadTemplate;
  /** The variables that all templates have. */
  readonly readVariables: () => Promise<Readonly<Record<string, unknown>>>;
}

/** Renders the content of a message. @throws INVALID_PAYLOAD for a template that is unknown or cannot be rendered. */
export type RenderMailContent = (
  content: Pick<MailMessage, 'template' | 'html' | 'text'> & { readonly subject: string },
) => Promise<{ readonly html?: string; readonly text: string }>;

/**
 * Creates the renderer: the body first, then the base layout, to which the body is a value. Templates know no includes, and every
 * other value is escaped for HTML; `base` says `{{ html | raw }}` for the body.
 */
export const createMailContentRenderer =
  ({ templates, readTemplate, readVariables }: Deps): RenderMailContent =>
  async ({ template, html, text, subject }) => {
    if (template === undefined && html === undefined) return { text: text as string };
    const variables = { subject, ...(await readVariables()) };
    const body =
      template === undefined
        ? (html as string)
        : await renderHtml(await readTemplate(template.name), { ...template.data, ...variables });
    const isWhole = template?.name === BASE;
    const whole = isWhole ? body : await renderHtml(await readTemplate(BASE), { ...variables, html: body });
    return { html: whole, text: text ?? (await renderText(body)) };

    function renderHtml(source: string, data: Record<string, unknown>): Promise<string> {
      return templates.render(source, data, { escapeHtml: true });
    }
  };
