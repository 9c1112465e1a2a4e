// The page of the API reference: a list of tags with a search, and beside it the operations of one tag, which Swagger UI shows.

const { documentPart, listOperations } = globalThis.documentParts;

const element = (id) => document.getElementById(id);
const place = element('document');
const address = new URL(place.dataset.document, location.href).href;
/** Operations that a search lists. */
const MAX_FOUND = 100;

let token = '';
let content;
let viewer;

/** Sends the token with requests that are tried, to this service only. */
function addToken(request) {
  if (token !== '' && new URL(request.url, location.href).origin === location.origin)
    request.headers = { ...request.headers, Authorization: `Bearer ${token}` };
  return request;
}

const nothing = () => null;
/** The token is entered above, and the page has the title. */
const plugin = () => ({
  wrapComponents: {
    authorizeBtn: () => nothing,
    authorizeOperationBtn: () => nothing,
    ServersContainer: () => nothing,
    InfoContainer: () => nothing,
  },
});

function show(tag) {
  // Requests go to the service that has sent the page, on whatever address.
  const spec = { ...documentPart(content, tag), servers: [{ url: new URL('../..', address).href.replace(/\/$/, '') }] };
  place.hidden = false;
  if (viewer) viewer.specActions.updateSpec(JSON.stringify(spec));
  else
    viewer = window.SwaggerUIBundle({
      spec,
      domNode: place,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      validatorUrl: null,
      requestInterceptor: addToken,
      plugins: [plugin],
    });
  for (const link of element('tags').querySelectorAll('a'))
    link.toggleAttribute('aria-current', link.dataset.tag === tag);
}

function createLink(tag, parts) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `#${encodeURIComponent(tag)}`;
  link.dataset.tag = tag;
  for (const [text, kind] of parts) {
    const part = document.createElement('span');
    part.textContent = text;
    if (kind) part.className = kind;
    link.append(part, ' ');
  }
  item.append(link);
  return item;
}

/** Lists the tags, or the operations whose method, path, summary and tag have all words of the search. */
function list() {
  const words = element('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const textOf = ({ method, path, operation }) =>
    `${method} ${path} ${operation.summary} ${operation.tags}`.toLowerCase();
  const found =
    words.length === 0
      ? []
      : listOperations(content).filter((one) => words.every((word) => textOf(one).includes(word)));
  element('tags').replaceChildren(
    ...(words.length === 0
      ? content.tags.map(({ name, 'x-collection': collection }) =>
          createLink(name, [[name.startsWith('Items') ? collection : name]]),
        )
      : found.slice(0, MAX_FOUND).map(({ method, path, operation }) =>
          createLink(operation.tags[0], [
            [method.toUpperCase(), 'method'],
            [path, 'path'],
            [operation.summary, 'summary'],
          ]),
        )),
  );
  element('found').textContent = words.length === 0 ? '' : `${found.length} operations`;
}

function showSelected() {
  const selected = decodeURIComponent(location.hash.slice(1));
  const tag = content.tags.find(({ name }) => name === selected) ?? content.tags[0];
  if (tag) show(tag.name);
}

async function load() {
  element('status').textContent = 'Loading the document.';
  const response = await fetch(address, { headers: token === '' ? {} : { Authorization: `Bearer ${token}` } });
  if (!response.ok) {
    element('status').textContent = `The service refuses the request for the document: ${response.status}.`;
    return;
  }
  content = await response.json();
  element('status').textContent = '';
  element('version').textContent = content.info.version;
  list();
  showSelected();
}

element('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  token = element('token').value.trim();
  load();
});
element('search').addEventListener('input', () => content && list());
addEventListener('hashchange', () => content && showSelected());

const appearance = element('appearance');
function setAppearance(isDark) {
  document.documentElement.classList.toggle('dark-mode', isDark);
  appearance.textContent = isDark ? 'Light' : 'Dark';
}
const preference = matchMedia('(prefers-color-scheme: dark)');
setAppearance(preference.matches);
preference.addEventListener('change', ({ matches }) => setAppearance(matches));
appearance.addEventListener('click', () => setAppearance(!document.documentElement.classList.contains('dark-mode')));
load();
