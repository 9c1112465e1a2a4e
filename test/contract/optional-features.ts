/** Settings that turn on features which are off by default, with limits that no test reaches. */
export const OPTIONAL_FEATURES = {
  TUS_ENABLED: 'true',
  REFRESH_TOKEN_REUSE: 'revoke',
  // Passkeys do not work at addresses of numbers.
  PASSKEYS_RP_ID: 'localhost',
  PASSKEYS_ORIGINS: 'http://localhost:8055',
  CACHE_ENABLED: 'true',
  METRICS_ENABLED: 'true',
  // Nothing listens there: spans are dropped.
  OTEL_TRACES_EXPORTER: 'otlp',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
  OTEL_EXPORTER_OTLP_TIMEOUT: '100',
  WEBSOCKETS_ENABLED: 'true',
  // No plugin connects to it.
  REDIS_HOST: '127.0.0.1',
  PRESSURE_LIMITER_ENABLED: 'true',
  PRESSURE_LIMITER_MAX_EVENT_LOOP_UTILIZATION: '0',
  PRESSURE_LIMITER_MAX_EVENT_LOOP_DELAY: '1h',
  RATE_LIMITER_ENABLED: 'true',
  RATE_LIMITER_POINTS: '100000',
  RATE_LIMITER_STORE: 'postgres',
  RATE_LIMITER_GLOBAL_ENABLED: 'true',
  RATE_LIMITER_GLOBAL_POINTS: '1000000',
  RATE_LIMITER_USER_ENABLED: 'true',
  RATE_LIMITER_USER_POINTS: '100000',
  RATE_LIMITER_TOKEN_ENABLED: 'true',
  EMAIL_TRANSPORT: 'log',
  EXTENSIONS_LOCATION: 'local',
  // A sign-in provider, which is not requested before the first sign-in.
  AUTH_EXAMPLE_DRIVER: 'openid',
  AUTH_EXAMPLE_ISSUER_URL: 'http://127.0.0.1:1',
  AUTH_EXAMPLE_CLIENT_ID: 'service',
  AUTH_EXAMPLE_ALLOW_PUBLIC_REGISTRATION: 'true',
  AUTH_EXAMPLE_SCIM_TOKEN: 'a-token-of-at-least-32-characters',
  AUTH_DIRECTORY_DRIVER: 'ldap',
  AUTH_DIRECTORY_CLIENT_URL: 'ldaps://127.0.0.1:1',
  AUTH_DIRECTORY_USER_DN: 'ou=people,dc=example,dc=com',
  AUTH_COMPANY_DRIVER: 'saml',
  AUTH_COMPANY_IDP_METADATA_URL: 'http://127.0.0.1:1',
  // No message is sent to them.
  EMAIL_SMTP_HOST: '127.0.0.1',
  EMAIL_SES_REGION: 'eu-central-1',
} as const;
