select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."hall" as "hall", coalesce(regexp_replace(to_char(t1."at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '000Z$', 'Z'), t1."at"::text) as "at", t1."seats" as "seats" from "public"."screening" t1 order by t1."at" desc, t1."hall") r
-- []
