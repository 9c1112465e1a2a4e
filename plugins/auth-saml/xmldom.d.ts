/**
 * The parts of @xmldom/xmldom that this plugin uses. Its own types are those of browsers, which would hold in the whole project
 * (`paths` in tsconfig.json).
 */

export interface Node {
  readonly nodeType: number;
  readonly namespaceURI: string | null;
  readonly localName: string | null;
  readonly parentNode: Node | null;
  readonly childNodes: ArrayLike<Node>;
  readonly textContent: string | null;
}

export interface Attribute {
  readonly name: string;
  readonly localName: string | null;
  readonly value: string;
}

export interface Element extends Node {
  readonly attributes: ArrayLike<Attribute>;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
  getElementsByTagName(name: string): { readonly length: number; item(index: number): Element | null };
}

export interface Document {
  readonly documentElement: Element;
}

type Report = (message: string) => void;

export class DOMParser {
  constructor(options: {
    readonly errorHandler: { readonly warning: Report; readonly error: Report; readonly fatalError: Report };
  });
  parseFromString(text: string, mimeType: string): Document | undefined;
}
