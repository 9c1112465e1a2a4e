select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", extract(hour from t1."clock")::int as "clock_hour", extract(minute from t1."clock")::int as "clock_minute", floor(extract(second from t1."clock"))::int as "clock_second" from "public"."thing" t1 order by t1."id" limit 100) r
-- []
