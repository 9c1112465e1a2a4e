/** A response as JSON text. */
export class ResponseText {
  readonly text: string;
  /** The position of the delivery that ends with this response, by which a client resumes later. */
  readonly position: string | undefined;
  /** Whether the next response waits until this one is sent. Deliveries do not wait: the engine counts what waits in the socket. */
  readonly isAwaited: boolean;

  constructor(text: string, { position, isAwaited = false }: { position?: string; isAwaited?: boolean } = {}) {
    this.text = text;
    this.position = position;
    this.isAwaited = isAwaited;
  }

  /**
   * graphql-ws renders messages by JSON.stringify, which cannot embed JSON text. So the payload is rendered as null, and `takeRendered`
   * tells the socket what belongs in its place.
   */
  toJSON(): null {
    rendered = this;
    return null;
  }
}

let rendered: ResponseText | undefined;

/** The response that JSON.stringify has rendered as null since the last call. Rendering and sending of a message are synchronous. */
export function takeRenderedResponse(): ResponseText | undefined {
  const response = rendered;
  rendered = undefined;
  return response;
}

const NULL_PAYLOAD = 'null}';

/** Puts the text of a response in the place of the payload, the last member of a message. */
export const embedResponse = (message: string, { text }: ResponseText): string =>
  `${message.slice(0, -NULL_PAYLOAD.length)}${text}}`;
