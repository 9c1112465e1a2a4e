select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", case when isfinite(t1."at") then extract(year from t1."at" at time zone 'UTC')::int end as "y" from "public"."book" t1 order by t1."id" limit 100) r
-- []
