select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (exists (select 1 from "public"."person" t2 where t2."id" = t1."author" and case when isfinite(t2."born") then extract(year from t2."born")::int end = $1::int8)) order by t1."id" limit 100) r
-- ["1980"]
