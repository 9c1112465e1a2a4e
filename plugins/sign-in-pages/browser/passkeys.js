// Sign-in by passkey: shows the button where the browser can, asks the service for a challenge and the device for an answer.

const button = document.querySelector('[data-passkey]');
const problem = document.querySelector('#passkey-problem');

const MESSAGES = {
  cancelled: 'The sign-in by passkey was cancelled, or took too long.',
  wrongAddress: 'Passkeys do not work at this address. Sign in another way.',
  refused: 'This passkey was not accepted. Sign in another way, or ask an administrator.',
  inactive: 'This account is not active. Ask an administrator.',
  busy: 'There were too many attempts. Wait a little and try again.',
  failed: 'The sign-in by passkey did not work. Try again in a minute.',
};

if (button && window.PublicKeyCredential && navigator.credentials) {
  button.closest('[hidden]').hidden = false;
  button.addEventListener('click', signIn);
}

async function signIn() {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  problem.textContent = '';
  try {
    const { data } = await post('options', {});
    const publicKey = toRequestOptions(data);
    const credential = await navigator.credentials.get({ publicKey });
    await post('', { credential: toJson(credential), mode: 'cookie' });
    location.assign(button.dataset.target);
  } catch (error) {
    problem.textContent = MESSAGES[reasonOf(error)];
    button.focus();
  } finally {
    button.removeAttribute('aria-busy');
  }
}

async function post(step, body) {
  const response = await fetch(`${button.dataset.passkey}${step && `/${step}`}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw { code: answer.errors?.[0]?.extensions?.code, status: response.status };
  return answer;
}

function reasonOf(error) {
  if (error?.name === 'NotAllowedError' || error?.name === 'AbortError') return 'cancelled';
  if (error?.name === 'SecurityError' || error?.code === 'INVALID_CONFIG') return 'wrongAddress';
  if (error?.code === 'USER_SUSPENDED') return 'inactive';
  if (error?.status === 429) return 'busy';
  return error?.status === 401 || error?.status === 403 ? 'refused' : 'failed';
}

/** Browsers before 2025 have no functions that convert JSON. */
function toRequestOptions(options) {
  if (PublicKeyCredential.parseRequestOptionsFromJSON) return PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: options.allowCredentials?.map((one) => ({ ...one, id: toBytes(one.id) })),
  };
}

function toJson(credential) {
  if (credential.toJSON) return credential.toJSON();
  const { id, rawId, type, authenticatorAttachment, response } = credential;
  return {
    id,
    rawId: toText(rawId),
    type,
    authenticatorAttachment,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: {
      authenticatorData: toText(response.authenticatorData),
      clientDataJSON: toText(response.clientDataJSON),
      signature: toText(response.signature),
      userHandle: response.userHandle ? toText(response.userHandle) : undefined,
    },
  };
}

function toBytes(text) {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (sign) => sign.charCodeAt(0));
}

function toText(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
