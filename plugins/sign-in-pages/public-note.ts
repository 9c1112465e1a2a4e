import { SafeHtml } from './html.ts';

/** Characters of the note that pages show. */
const MAX_LENGTH = 5000;
/** Where links of the note may lead: no `javascript:`, `data:` or other scheme. */
const LINK = /^(?:https?:\/\/|mailto:|\/(?![/\\]))/i;

type Renderer = (text: string) => string;
let renderer: Promise<Renderer> | undefined;

/** The first note loads the library. Of Markdown there are paragraphs, lists, emphasis, code and links; HTML is text. */
async function load(): Promise<Renderer> {
  const { default: MarkdownIt } = await import('markdown-it');
  const markdown = new MarkdownIt('zero', { html: false, breaks: true });
  markdown.enable(['emphasis', 'backticks', 'link', 'autolink', 'newline', 'escape', 'list']);
  markdown.validateLink = (url) => LINK.test(url.trim());
  markdown.renderer.rules.link_open = (tokens, at, options, _environment, self) => {
    tokens[at]?.attrSet('rel', 'noopener noreferrer');
    return self.renderToken(tokens, at, options);
  };
  return (text) => markdown.render(text);
}

/** The setting `public_note` as HTML. */
export async function renderPublicNote(note: string): Promise<SafeHtml> {
  renderer ??= load();
  return new SafeHtml((await renderer)(note.slice(0, MAX_LENGTH)));
}
