select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", t1."at_year" as "at_year", case when isfinite(t1."at") then extract(month from t1."at" at time zone 'UTC')::int end as "made" from "public"."awkward" t1 order by t1."id" limit 100) r
-- []
