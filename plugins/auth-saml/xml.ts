import { DOMParser, type Document, type Element, type Node } from '@xmldom/xmldom';

/** Namespaces of SAML 2.0, of signatures and of encryption. */
export const NAMESPACES = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
} as const;

const MAX_DEPTH = 100;

/** What a text of XML may have. */
export interface XmlLimits {
  readonly characters: number;
  /** Tags that begin or end elements. */
  readonly tags: number;
}

/** Limits of metadata, which the administrator names. */
export const METADATA_LIMITS: XmlLimits = { characters: 1_000_000, tags: 10_000 };

/**
 * Parses XML of another machine. Whatever SAML does not need is refused before it is parsed: document types and entities, with which a
 * small text becomes a large one; comments, processing instructions and CDATA, which parsers read differently.
 * @throws Error with what is wrong
 */
export function parseUntrustedXml(text: string, { characters, tags }: XmlLimits): Document {
  if (text.length > characters) throw new Error(`the XML has more than ${characters} characters`);
  const body = text.replace(/^\uFEFF?\s*<\?xml\s[^<>?]*\?>/, '');
  if (/<[!?]/.test(body)) throw new Error('the XML has a document type, a comment, CDATA or a processing instruction');
  if (body.split('<', tags + 2).length > tags + 1) throw new Error(`the XML has more than ${tags} tags`);
  return parseXml(body);
}

/** Parses XML that a signature has proven. @throws Error where it is not well-formed */
export function parseXml(text: string): Document {
  const refuse = (message: string) => {
    throw new Error(`the XML is not well-formed: ${message.split('\n')[0]}`);
  };
  const document = new DOMParser({
    errorHandler: { warning: refuse, error: refuse, fatalError: refuse },
  }).parseFromString(text, 'text/xml');
  if (!document?.documentElement) throw new Error('the XML has no element');
  assertShallow(document.documentElement);
  return document;
}

/** The canonical form is written by recursion. */
function assertShallow(root: Element): void {
  for (const element of elementsIn(root)) {
    let depth = 0;
    for (let at = element; at !== root && depth <= MAX_DEPTH; at = at.parentNode as Element) depth++;
    if (depth > MAX_DEPTH) throw new Error(`the XML is nested more than ${MAX_DEPTH} elements deep`);
  }
}

/** All elements below an element, and itself, in their order. */
export function* elementsIn(root: Element): Generator<Element> {
  yield root;
  const all = root.getElementsByTagName('*');
  for (let i = 0; i < all.length; i++) yield all.item(i) as Element;
}

const isElement = (node: Node): node is Element => node.nodeType === 1;

/** The children of an element with this namespace and name. */
export function childrenNamed(parent: Element, namespace: string, name: string): readonly Element[] {
  return Array.from(parent.childNodes)
    .filter(isElement)
    .filter((node) => node.namespaceURI === namespace && node.localName === name);
}

/** The only child with this name; undefined without one. @throws Error where there are several */
export function childNamed(parent: Element, namespace: string, name: string): Element | undefined {
  const [first, second] = childrenNamed(parent, namespace, name);
  if (second) throw new Error(`there are several elements ${name}`);
  return first;
}

/** Whether an element has text only. */
export const isText = (element: Element): boolean => !Array.from(element.childNodes).some(isElement);

/** The whole text of an element. @throws Error where it has elements in it */
export function textOf(element: Element): string {
  if (!isText(element)) throw new Error(`the element ${element.localName} is no text`);
  return (element.textContent ?? '').trim();
}

/** The value of an attribute; undefined where the element does not have it. */
export const attributeOf = (element: Element, name: string): string | undefined =>
  element.hasAttribute(name) ? (element.getAttribute(name) as string) : undefined;
